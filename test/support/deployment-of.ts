import { secret } from '../../src/lib/secret.ts'
import { providers } from '../../src/providers/index.ts'
import type { Deployment } from '../../src/routing/deployment.ts'

const NEEDED: Readonly<Record<string, object>> = {
  'openai-compatible': { api_base: 'https://llm.example/v1' },
  cloudflare: { project: 'account' },
}

/** A deployment of a model, named by its kind of provider and the provider's name of it. `more`: further parameters. */
export function deploymentOf(name: string, more: object = {}): Deployment {
  const [kind = '', ...rest] = name.split('/')
  const provider = providers.get(kind)
  if (!provider) throw new RangeError(kind)
  const parameters = {
    model: name,
    provider: kind,
    upstream_model: rest.join('/'),
    api_key: secret('k'),
    region: 'us-east-1',
  }
  const connection = provider.connect({ ...parameters, ...NEEDED[kind], ...more } as never, {})
  const adapters = provider.adaptersOf?.(connection) ?? provider.adapters
  const adapter = (capability: keyof typeof adapters) => adapters[capability]
  return { id: name, provider, connection, adapter } as unknown as Deployment
}
