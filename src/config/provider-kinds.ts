/** Every upstream that the gateway speaks to, by the first segment of `gateway_params.model`. */
export const PROVIDER_KINDS = [
  'openai',
  'azure',
  'anthropic',
  'gemini',
  'vertex',
  'bedrock',
  'cohere',
  'mistral',
  'groq',
  'together',
  'fireworks',
  'deepinfra',
  'deepseek',
  'openrouter',
  'perplexity',
  'xai',
  'cerebras',
  'nvidia',
  'moonshot',
  'ollama',
  'vllm',
  'lmstudio',
  'huggingface',
  'cloudflare',
  'voyage',
  'jina',
  'elevenlabs',
  'deepgram',
  'openai-compatible',
  'echo',
] as const

export type ProviderKind = (typeof PROVIDER_KINDS)[number]

export function isProviderKind(name: string): name is ProviderKind {
  return (PROVIDER_KINDS as readonly string[]).includes(name)
}

/** Kinds without an address of their own: `api_base` says where they are. */
export const KINDS_WITHOUT_ADDRESS: readonly ProviderKind[] = ['azure', 'openai-compatible']
