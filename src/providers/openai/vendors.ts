import { mistralModerations } from '../mistral/moderation.ts'
import { mistralSpeech } from '../mistral/speech.ts'
import { mistralTranscription } from '../mistral/transcription.ts'
import type { Vendor } from '../openai-compatible/index.ts'
import { OPENROUTER_FIELDS, PROXY_FIELDS } from '../openai-compatible/proxy-fields.ts'
import { perplexityChat } from '../perplexity/chat.ts'
import { adapterFor } from '../provider.ts'
import { OPENAI_QUIRKS } from './chat-quirks.ts'
import { openrouterImages } from './modes.ts'

/** The limit of output tokens has one name at most vendors: OpenAI's older one. */
const MAX_TOKENS = { maxTokens: 'max_tokens' } as const

const IMAGES = ['image_generation', 'image_edit', 'image_variation'] as const
const HEARING = ['audio_transcription', 'audio_translation'] as const

/** OpenAI's hints that vendors refuse with all fields that they do not know. */
const OF_OPENAI = ['safety_identifier', 'prompt_cache_retention', 'prompt_cache_options', 'verbosity', 'store']

/** The vendors of OpenAI's shape by kind: the modes that each serves, and where it differs. */
export const OPENAI_VENDORS: Readonly<Record<string, Vendor>> = {
  // A server that the operator runs may have any of these fields.
  'openai-compatible': {
    label: 'OpenAI-compatible server',
    keyless: true,
    modes: ['embedding', ...IMAGES, 'audio_speech', ...HEARING, 'rerank', 'moderation'],
    routingFields: PROXY_FIELDS,
  },
  openai: {
    label: 'OpenAI',
    apiBase: 'https://api.openai.com/v1',
    modes: ['responses', 'embedding', ...IMAGES, 'audio_speech', ...HEARING, 'moderation'],
    ...OPENAI_QUIRKS,
    // The model that writes down a drawing, also as clients write it into forms.
    routingFields: new Set(['svg', 'svg[model]']),
    writesCache: true,
    reasonsInResponses: true,
  },
  mistral: {
    label: 'Mistral',
    apiBase: 'https://api.mistral.ai/v1',
    modes: ['embedding'],
    own: {
      audio_speech: adapterFor(mistralSpeech),
      audio_transcription: adapterFor(mistralTranscription),
      moderation: adapterFor(mistralModerations),
    },
    ...MAX_TOKENS,
    // It refuses the field with 422 and sends the usage with the last chunk anyway.
    streamOptions: false,
    // It refuses unknown fields with 422.
    reasoning: 'none',
    unknownHints: [...OF_OPENAI, 'user'],
    strictCalls: true,
    refuses: ['top_k', 'service_tier'],
    efforts: [
      [/mistral-large-4/, ['none', 'low', 'medium', 'high']],
      [/glm-5/, ['low', 'high', 'max']],
      [/mistral-(small|medium)/, ['none', 'high']],
      [/^/, []],
    ],
    hottest: 1.5,
    seed: 'random_seed',
    answersResults: true,
    marksPrefill: true,
    partsInAnswers: true,
    documentUrls: true,
    nameless: true,
    dimensions: 'output_dimension',
    needsParameters: true,
    takes: { functions: /^[a-zA-Z0-9_-]{1,64}$/, calls: { fits: /^[a-zA-Z0-9]{9}$/, length: 9 } },
  },
  groq: {
    label: 'Groq',
    apiBase: 'https://api.groq.com/openai/v1',
    modes: ['audio_speech', ...HEARING],
    usageUnder: 'x_groq',
    reasoning: 'reasoning',
    unknownHints: [...OF_OPENAI, 'prompt_cache_key'],
    strictCalls: true,
    refuses: ['top_k'],
    formatsAlone: true,
    stops: 4,
    efforts: [
      [/gpt-oss/, ['low', 'medium', 'high']],
      [/qwen/, ['none', 'default']],
      [/^/, []],
    ],
    // The models that a compound system is made of.
    routingFields: new Set(['compound_custom']),
  },
  together: {
    label: 'Together AI',
    apiBase: 'https://api.together.xyz/v1',
    modes: ['embedding', 'image_generation', 'audio_speech', ...HEARING, 'rerank'],
    ...MAX_TOKENS,
    // The model that moderates.
    routingFields: new Set(['safety_model']),
  },
  fireworks: {
    label: 'Fireworks AI',
    apiBase: 'https://api.fireworks.ai/inference/v1',
    modes: ['responses', 'embedding'],
    // It refuses unknown fields with 400, in messages, too.
    reasoning: 'reasoning_content',
    unknownHints: OF_OPENAI,
    strictCalls: true,
    stops: 4,
    efforts: [
      [/gpt-oss/, ['low', 'medium', 'high']],
      [/^/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
    ],
  },
  deepinfra: {
    label: 'DeepInfra',
    apiBase: 'https://api.deepinfra.com/v1/openai',
    modes: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    ...MAX_TOKENS,
    stringContents: true,
  },
  deepseek: {
    label: 'DeepSeek',
    apiBase: 'https://api.deepseek.com/v1',
    modes: [],
    ...MAX_TOKENS,
    reasoning: 'reasoning_content',
    noReasoning: '',
    // The older names each stand for one of the two ways.
    stopsThinking: /^(?!deepseek-(chat|reasoner))/,
    withoutSchemas: true,
  },
  openrouter: {
    label: 'OpenRouter',
    apiBase: 'https://openrouter.ai/api/v1',
    modes: ['embedding', 'audio_speech', 'audio_transcription', 'rerank'],
    own: { image_generation: adapterFor(openrouterImages) },
    cacheMarks: true,
    reasoningDetails: true,
    routingFields: OPENROUTER_FIELDS,
  },
  // It ended its chat in September 2026: both are at /responses.
  perplexity: {
    label: 'Perplexity',
    apiBase: 'https://api.perplexity.ai/v1',
    maker: 'perplexity',
    modes: ['responses'],
    own: { chat: adapterFor(perplexityChat) },
    // Models in the place of the one that was chosen.
    routingFields: new Set(['models', 'preset']),
  },
  xai: {
    label: 'xAI',
    apiBase: 'https://api.x.ai/v1',
    modes: ['responses', 'image_generation'],
    refusesSilence: true,
    stringContents: true,
    refuses: ['frequency_penalty', 'presence_penalty'],
    efforts: [
      [/grok-(4\.20(?!-multi-agent)|build|composer)/, []],
      [/grok-4\.3/, ['none', 'low', 'medium', 'high']],
      [/grok-4\.5/, ['low', 'medium', 'high']],
      [/grok-(4\.[6-9]|[5-9])/, ['low', 'medium', 'high', 'xhigh']],
    ],
  },
  cerebras: {
    label: 'Cerebras',
    apiBase: 'https://api.cerebras.ai/v1',
    modes: [],
    maxTokens: 'max_completion_tokens',
    reasoning: 'reasoning',
    unknownHints: [...OF_OPENAI, 'prompt_cache_key'],
    strictCalls: true,
    sameStrictness: true,
    refuses: ['top_k'],
    stops: 4,
    efforts: [[/gpt-oss/, ['low', 'medium', 'high']]],
  },
  nvidia: {
    label: 'NVIDIA NIM',
    apiBase: 'https://integrate.api.nvidia.com/v1',
    modes: ['embedding'],
    ...MAX_TOKENS,
    // It refuses unknown fields with 400.
    unknownHints: [...OF_OPENAI, 'prompt_cache_key', 'user'],
    strictCalls: true,
    refuses: ['top_k', 'service_tier'],
    stringContents: true,
  },
  moonshot: {
    label: 'Moonshot AI',
    apiBase: 'https://api.moonshot.ai/v1',
    modes: [],
    ...MAX_TOKENS,
    reasoning: 'reasoning_content',
    // An empty text is no reasoning to some of its models.
    noReasoning: ' ',
    refusesSilence: true,
    stopsThinking: /kimi-k2\.[56]/,
    callsUnforced: /kimi-k2\.[7-9]/,
    callsAny: /kimi-k[3-9]/,
    definedSchemas: true,
    takes: { functions: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/ },
    efforts: [[/kimi-k[3-9]/, ['low', 'high', 'max']]],
    samplesAlone: (model) => /kimi-(?!k2(-|$))/.test(model),
    hottest: 1,
    stops: 5,
    // Files that were uploaded to the account.
    readsOwn: /^ms:/i,
  },
  huggingface: {
    label: 'Hugging Face',
    apiBase: 'https://router.huggingface.co/v1',
    modes: [],
    ...MAX_TOKENS,
    routingFields: new Set(['provider']),
  },
  cloudflare: {
    label: 'Cloudflare Workers AI',
    apiBase: 'https://api.cloudflare.com/client/v4/accounts/{project}/ai/v1',
    modes: ['embedding'],
    models: false,
    ...MAX_TOKENS,
    stringContents: true,
    // A tuned model of the account.
    routingFields: new Set(['lora']),
  },
  ollama: {
    label: 'Ollama',
    keyless: true,
    apiBase: 'http://localhost:11434/v1',
    modes: ['embedding'],
    ...MAX_TOKENS,
    reasoning: 'reasoning',
    // It reads every part as a message of its own.
    stringContents: true,
    efforts: [[/^/, ['none', 'low', 'medium', 'high', 'max']]],
  },
  vllm: {
    label: 'vLLM',
    keyless: true,
    apiBase: 'http://localhost:8000/v1',
    modes: ['embedding', ...HEARING, 'rerank'],
  },
  lmstudio: {
    label: 'LM Studio',
    keyless: true,
    apiBase: 'http://localhost:1234/v1',
    modes: ['embedding'],
    ...MAX_TOKENS,
    schemasAlone: true,
    callsAny: /^/,
    needsParameters: true,
    needsProperties: true,
  },
}
