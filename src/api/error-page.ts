import type { GatewayError } from '../lib/errors.ts'
import type { Answer } from '../pipeline/answer.ts'

/** Whether the client prefers a page to JSON, by its Accept header. */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const quality = (type: string) => {
    for (const part of accept.toLowerCase().split(',')) {
      const [name, ...parameters] = part.split(';').map((piece) => piece.trim())
      if (name !== type) continue
      const q = parameters.find((parameter) => parameter.startsWith('q='))
      return q === undefined ? 1 : Number(q.slice(2)) || 0
    }
    return 0
  }
  const page = quality('text/html')
  return page > 0 && page >= quality('application/json')
}

/** The page runs no scripts and loads its style from the gateway alone. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** A failure as a page, with the status and headers of its answer. */
export function errorPage(error: GatewayError, answer: Answer): Answer {
  const title = error.status === 403 ? 'No access' : error.status >= 500 ? 'Not available' : 'This did not work'
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<h1>${title}</h1>
<p>${escaped(error.message)}</p>
<p class="quiet">${escaped(error.code ?? error.row.type)}</p>
<p><a href="/console/sign-in">Sign in</a></p>
</body>
</html>
`
  return { status: answer.status, headers: { ...answer.headers, ...HEADERS }, body: new TextEncoder().encode(page) }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
