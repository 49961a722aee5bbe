// Parts of undici that are imported alone. Each is a CommonJS module, which exports one thing.

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  // biome-ignore lint/style/noDefaultExport: what the module exports.
  export default Agent
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent } from 'undici'
  // biome-ignore lint/style/noDefaultExport: what the module exports.
  export default EnvHttpProxyAgent
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  // biome-ignore lint/style/noDefaultExport: what the module exports.
  export default Pool
}

declare module 'undici/lib/api/api-connect.js' {
  import { Dispatcher } from 'undici'

  const connect: Dispatcher['connect']
  // biome-ignore lint/style/noDefaultExport: what the module exports.
  export default connect
}
