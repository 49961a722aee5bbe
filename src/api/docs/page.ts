/** The documentation page. Its script and style, `docs.js` and `docs.css`, are static files of the console's public
 *  folder. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model gateway: API</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/docs.css">
<script type="module" src="/docs.js"></script>
</head>
<body>
<h1>Model gateway</h1>
<p class="quiet">Written from the contracts that check the requests. The same as an
<a href="/openapi.json">OpenAPI document</a>; for the configuration file there is a
<a href="/gateway.schema.json">JSON Schema</a>.</p>
<main id="routes">Loading…</main>
</body>
</html>
`

/** The page may load its own files only, and connect to the gateway only. */
export const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const
