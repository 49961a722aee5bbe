import type { Vendor } from '../openai-compatible/index.ts'

/** The limit of output tokens has one name at most vendors: OpenAI's older one. */
const MAX_TOKENS = { maxTokens: 'max_tokens' } as const

/** What OpenRouter chooses models and their hosts by. */
const OPENROUTER_FIELDS = ['models', 'route', 'provider', 'plugins', 'preset', 'fallbacks'] as const

/** What the servers do that stand in front of other providers: OpenRouter's copies, Vercel's, LiteLLM and its copies. */
export const PROXY_FIELDS = [
  ...OPENROUTER_FIELDS,
  'providers',
  'provider_options',
  'providerOptions',
  'context_window_fallbacks',
  'context_window_fallback_dict',
  'content_policy_fallbacks',
  'default_fallbacks',
  'api_base',
  'base_url',
  'api_key',
  'api_version',
  'organization',
  'custom_llm_provider',
  'user_config',
  'model_list',
  'model_info',
  'litellm_params',
  'litellm_credential_name',
  'router_settings_override',
  'extra_headers',
  'extra_body',
  'headers',
  'proxies',
  'azure_ad_token',
  'vertex_project',
  'vertex_location',
  'vertex_credentials',
  'aws_region_name',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'aws_role_name',
  'aws_profile_name',
  'aws_bedrock_runtime_endpoint',
] as const

/** Everyone who speaks OpenAI's shape, by kind, with what each serves of it and where it differs. */
export const OPENAI_VENDORS: Readonly<Record<string, Vendor>> = {
  // A server of the operator's own may have any of them.
  'openai-compatible': {
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription', 'rerank'],
    routingFields: PROXY_FIELDS,
  },
  openai: {
    apiBase: 'https://api.openai.com/v1',
    beside: ['responses', 'embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    refusesReasoning: true,
  },
  mistral: {
    apiBase: 'https://api.mistral.ai/v1',
    beside: ['embedding', 'audio_transcription'],
    ...MAX_TOKENS,
    // Refused with 422; usage comes with the last chunk in any case.
    streamOptions: false,
    // Any field that it does not know is refused with 422.
    reasoning: 'none',
  },
  groq: {
    apiBase: 'https://api.groq.com/openai/v1',
    beside: ['audio_speech', 'audio_transcription'],
    usageUnder: 'x_groq',
    reasoning: 'reasoning',
    // The models that a compound system is made of.
    routingFields: ['compound_custom'],
  },
  together: {
    apiBase: 'https://api.together.xyz/v1',
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription', 'rerank'],
    ...MAX_TOKENS,
    // The model that moderates.
    routingFields: ['safety_model'],
  },
  fireworks: { apiBase: 'https://api.fireworks.ai/inference/v1', beside: ['responses', 'embedding'] },
  deepinfra: {
    apiBase: 'https://api.deepinfra.com/v1/openai',
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    ...MAX_TOKENS,
  },
  deepseek: { apiBase: 'https://api.deepseek.com/v1', beside: [], ...MAX_TOKENS, reasoning: 'reasoning_content' },
  openrouter: {
    apiBase: 'https://openrouter.ai/api/v1',
    beside: ['embedding'],
    cacheMarks: true,
    routingFields: OPENROUTER_FIELDS,
  },
  // Its chat is at /chat/completions, without a version. Usage comes with every chunk.
  perplexity: { apiBase: 'https://api.perplexity.ai', beside: [], models: false, ...MAX_TOKENS, reasoning: 'none' },
  xai: { apiBase: 'https://api.x.ai/v1', beside: ['responses', 'image_generation'] },
  cerebras: {
    apiBase: 'https://api.cerebras.ai/v1',
    beside: [],
    maxTokens: 'max_completion_tokens',
    reasoning: 'reasoning',
  },
  nvidia: { apiBase: 'https://integrate.api.nvidia.com/v1', beside: ['embedding'], ...MAX_TOKENS },
  moonshot: {
    apiBase: 'https://api.moonshot.ai/v1',
    beside: [],
    ...MAX_TOKENS,
    reasoning: 'reasoning_content',
    // Files that were uploaded to the account.
    readsOwn: /^ms:/i,
  },
  huggingface: { apiBase: 'https://router.huggingface.co/v1', beside: [], ...MAX_TOKENS, routingFields: ['provider'] },
  cloudflare: {
    apiBase: 'https://api.cloudflare.com/client/v4/accounts/{project}/ai/v1',
    beside: ['embedding'],
    models: false,
    ...MAX_TOKENS,
    // A tuned model of the account.
    routingFields: ['lora'],
  },
  ollama: { apiBase: 'http://localhost:11434/v1', beside: ['embedding'], ...MAX_TOKENS },
  vllm: { apiBase: 'http://localhost:8000/v1', beside: ['embedding', 'audio_transcription', 'rerank'] },
  lmstudio: { apiBase: 'http://localhost:1234/v1', beside: ['embedding'], ...MAX_TOKENS },
}
