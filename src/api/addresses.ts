import { getPath } from 'hono/utils/url'
import { DEPLOYMENTS, deploymentPaths } from './deployment-address.ts'
import type { Route } from './route.ts'

/** What clients of a vendor put before the paths of its API. `serves`: the paths that are that vendor's; `version`:
 *  where they are, if not below `/v1`. */
const PREFIXES: readonly { readonly prefix: string; readonly serves?: RegExp; readonly version?: string }[] = [
  { prefix: '/anthropic/v1', serves: /^\/(messages|models)(\/|$)/ },
  { prefix: '/gemini/v1beta', serves: /^\/models(\/|$)/, version: '/v1beta' },
  { prefix: '/gemini/v1', serves: /^\/models(\/|$)/, version: '/v1beta' },
  { prefix: '/openai/v1' },
  { prefix: '/openai' },
]

/** Requests that a vendor's clients send at another version. */
const ELSEWHERE: Readonly<Record<string, string>> = { '/v2/rerank': '/v1/rerank' }

const VERSIONED = /^\/v\d(?:beta)?\//
const SLASH = 47

/** The path at which a request is answered: many clients leave out `/v1`, end in a slash, or put their vendor's prefix
 *  before the path. A path that is no such address of one of `routes` stays as it is. */
export function readdressing(routes: readonly Route[]): (request: Request) => string {
  const versioned = routes.map(({ contract }) => contract.path).filter((path) => VERSIONED.test(path))
  const served = new Set(versioned.map(behindVersion))
  const named = deploymentPaths(routes)

  function readdressed(sent: string): string {
    const path = sent.length > 1 && sent.charCodeAt(sent.length - 1) === SLASH ? sent.slice(0, -1) : sent
    if (path.startsWith(DEPLOYMENTS)) return ofDeployment(path, named) ?? sent
    const { prefix, serves, version = '/v1' } = PREFIXES.find((one) => path.startsWith(`${one.prefix}/`)) ?? NO_PREFIX
    const rest = path.slice(prefix.length)
    const own = VERSIONED.test(rest) ? rest : `${version}${rest}`
    if (!served.has(behindVersion(own)) || serves?.test(rest) === false) return sent
    return ELSEWHERE[own] ?? own
  }

  return (request) => {
    const path = getPath(request)
    // Most requests are at their path already.
    return path.startsWith('/v1/') && path.charCodeAt(path.length - 1) !== SLASH ? path : readdressed(path)
  }
}

const NO_PREFIX: (typeof PREFIXES)[number] = { prefix: '' }

/** The first segment of a path behind its version. */
const behindVersion = (path: string) => path.split('/', 3)[2] ?? ''

/** The address of a deployment in the form of its route. Some clients do not encode the slashes of the model's name. */
function ofDeployment(path: string, named: readonly string[]): string | undefined {
  const operation = named.find((one) => path.endsWith(one))
  if (operation === undefined) return undefined
  const model = path.slice(DEPLOYMENTS.length, -operation.length)
  return model === '' ? undefined : `${DEPLOYMENTS}${encoded(model)}${operation}`
}

function encoded(name: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(name))
  } catch {
    return encodeURIComponent(name.toWellFormed())
  }
}

/** A path of the dialect that the address belongs to: a 404 is written in the shape of that dialect. */
export function dialectPath(url: string): string {
  const [, first] = /^[^/]*\/\/[^/]*\/(anthropic|v1\/messages|gemini|v1beta)\//.exec(url) ?? []
  if (first === undefined) return ''
  return first === 'gemini' || first === 'v1beta' ? '/v1beta/models' : '/v1/messages'
}
