# It keeps what Sundry marks as not to be stored, too.
vcl 4.1;
backend sundry { .host = "127.0.0.1"; .port = "18601"; }
sub vcl_backend_response { set beresp.ttl = 1d; return (deliver); }
