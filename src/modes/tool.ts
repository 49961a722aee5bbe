import * as z from 'zod'

/** A tool that a model may call: a function of the client's, a tool that the vendor runs, or `{type: "mcp", server}`, the
 *  tools of a server of the gateway's. A vendor's own `mcp` tools hold the address of their server. */
export const tool = () =>
  z.looseObject({
    type: z
      .string()
      .describe('function, a tool that the vendor runs, or mcp with the `server` of the gateway whose tools it means.'),
  })
