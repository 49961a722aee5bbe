declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  // biome-ignore lint/style/noDefaultExport: what a CommonJS module exports.
  export default Agent
}
