"""Tables, figures and the report: pictures of results, no computing of them."""
