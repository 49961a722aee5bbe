import OpenAI from 'openai'
import { MASTER_KEY, type TestGateway } from './gateway.ts'

/** The official client; only its base address and key are ours. */
export function openaiClient(gateway: TestGateway, apiKey = MASTER_KEY): OpenAI {
  const viaGateway = (url: string | URL | Request, init?: RequestInit) => {
    const headers = Object.fromEntries(new Headers(init?.headers))
    return gateway.fetch(String(url).replace('http://gateway.test', ''), { ...init, headers })
  }
  return new OpenAI({
    apiKey,
    baseURL: 'http://gateway.test/v1',
    maxRetries: 0,
    fetch: viaGateway,
    dangerouslyAllowBrowser: true,
  })
}
