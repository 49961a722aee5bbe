/// <reference path="./undici-modules.d.ts" />
import type { Agent, Dispatcher } from 'undici'
import connect from 'undici/lib/api/api-connect.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

/** Sends through the proxies that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`), but for hosts in `NO_PROXY`. */
export const proxiedAgent = (options: Agent.Options, connectTimeout: number): Dispatcher =>
  new EnvHttpProxyAgent({ ...options, connectTimeout, clientFactory: tunnelling })

/** The connections to a proxy, which open tunnels. Only undici as a whole gives its pools this method. */
const tunnelling = (origin: URL, options: object): Dispatcher => Object.assign(new Pool(origin, options), { connect })
