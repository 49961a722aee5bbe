import { GatewayError } from '../lib/errors.ts'
import type { Route, RouteContract } from './route.ts'

/** The refusal of a request that matches no route: its path is unknown, or known for other methods only. */
export function noRoute(method: string, path: string, routes: readonly Route[], upgrade?: string): GatewayError {
  const methods = routes.filter(({ contract }) => matches(contract, path)).map(({ contract }) => contract.method)
  if (methods.length === 0) {
    return new GatewayError('not_found', `There is nothing at this path. The paths are listed at /docs.`, {
      code: 'unknown_path',
    })
  }
  // What is read may be asked for its headers alone.
  const allow = [...new Set(methods)].map((name) => (name === 'get' ? 'GET, HEAD' : name.toUpperCase())).join(', ')
  if (upgrade?.toLowerCase() === 'websocket') {
    return new GatewayError('upgrade_refused', `This path does not accept WebSockets. Send ${allow} over HTTP.`)
  }
  return new GatewayError('method_not_allowed', `This path does not take ${method.slice(0, 20)}. It takes ${allow}.`, {
    headers: { allow },
  })
}

/** The contract of a path, for any method. */
export function contractAt(path: string, routes: readonly Route[]): RouteContract | undefined {
  return routes.find(({ contract }) => matches(contract, path))?.contract
}

function matches({ path, address = path, aliases = [], open }: RouteContract, given: string): boolean {
  return matchesOne(address, open, given) || aliases.some((alias) => matchesOne(alias, open, given))
}

function matchesOne(template: string, open: true | undefined, path: string): boolean {
  const verb = /\}(:\w+)$/.exec(template)?.[1] ?? ''
  if (!path.endsWith(verb)) return false
  const wanted = template.split('/')
  const given = path.split('/')
  // A verb alone is no name: nothing of what takes the verb is called so.
  if (verb !== '' && given.at(-1) === verb) return false
  const mayBeLonger = open === true || verb !== ''
  return (
    (wanted.length === given.length || (mayBeLonger && wanted.length < given.length)) &&
    wanted.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  )
}
