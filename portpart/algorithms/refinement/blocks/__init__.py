"""What blocks weigh and may weigh, and vertices that are tied to theirs."""
