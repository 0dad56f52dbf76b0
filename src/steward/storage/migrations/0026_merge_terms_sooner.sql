-- While documents are stored the server has time to spare: it merges new terms then, and little is left for the end.
ALTER INDEX kb_terms_terms SET (gin_pending_list_limit = 4096);
