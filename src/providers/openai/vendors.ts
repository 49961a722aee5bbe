import { mistralModerations } from '../mistral/moderation.ts'
import { mistralSpeech } from '../mistral/speech.ts'
import { mistralTranscription } from '../mistral/transcription.ts'
import type { Vendor } from '../openai-compatible/index.ts'
import { OPENROUTER_FIELDS, PROXY_FIELDS } from '../openai-compatible/proxy-fields.ts'
import { perplexityChat } from '../perplexity/chat.ts'
import { adapterFor } from '../provider.ts'
import { FUNCTIONS, THINKING, VENDOR_WORDS } from '../wire/fitting/vendor-words.ts'
import { OPENAI_QUIRKS } from './chat-quirks.ts'
import { MAX_TOKENS } from './fitting/limit.ts'
import { openrouterImages } from './modes.ts'
import { OWN_SERVERS } from './own-servers.ts'
import { togetherImages } from './together-images.ts'
import { xaiImages } from './xai-images.ts'

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
    words: VENDOR_WORDS,
    chat: { fields: { refusedBySome: ['tools'] } },
  },
  openai: {
    label: 'OpenAI',
    apiBase: 'https://api.openai.com/v1',
    modes: ['responses', 'embedding', ...IMAGES, 'audio_speech', ...HEARING, 'moderation'],
    words: new Set([FUNCTIONS]),
    chat: OPENAI_QUIRKS,
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
    dimensions: 'output_dimension',
    words: new Set(['prompt_mode', 'random_seed', 'safe_prompt']),
    chat: {
      conversation: {
        reasoning: 'none',
        strictAnswers: true,
        strictCalls: true,
        answersResults: true,
        marksPrefill: true,
        documentUrls: true,
        nameless: true,
      },
      fields: {
        // It refuses unknown fields with 422, in messages, too.
        unknownHints: [...OF_OPENAI, 'user'],
        refuses: ['top_k', 'service_tier'],
        hottest: 1.5,
        seed: 'random_seed',
      },
      limit: MAX_TOKENS,
      efforts: {
        taken: [
          [/mistral-large-4/, ['none', 'low', 'medium', 'high']],
          [/glm-5/, ['low', 'high', 'max']],
          [/mistral-(small|medium)/, ['none', 'high']],
          [/^/, []],
        ],
      },
      functions: { needParameters: true },
      answers: {
        // It refuses the field with 422 and sends the usage with the last chunk anyway.
        usageUnasked: true,
        parts: true,
      },
      takes: { functions: /^[a-zA-Z0-9_-]{1,64}$/, calls: { fits: /^[a-zA-Z0-9]{9}$/, length: 9 } },
    },
  },
  groq: {
    label: 'Groq',
    apiBase: 'https://api.groq.com/openai/v1',
    modes: ['audio_speech', ...HEARING],
    // The models that a compound system is made of.
    routingFields: new Set(['compound_custom']),
    words: new Set(['reasoning_format', 'include_reasoning']),
    chat: {
      conversation: { reasoning: 'reasoning', strictAnswers: true, strictCalls: true },
      fields: { unknownHints: [...OF_OPENAI, 'prompt_cache_key'], refuses: ['top_k'], stops: 4 },
      efforts: {
        taken: [
          [/gpt-oss/, ['low', 'medium', 'high']],
          [/qwen/, ['none', 'default']],
          [/^/, []],
        ],
      },
      formats: { alone: true },
      answers: { usageUnder: 'x_groq' },
    },
  },
  together: {
    label: 'Together AI',
    apiBase: 'https://api.together.xyz/v1',
    modes: ['embedding', 'audio_speech', ...HEARING, 'rerank'],
    own: { image_generation: adapterFor(togetherImages) },
    // The model that moderates.
    routingFields: new Set(['safety_model']),
    words: new Set(['reasoning', 'chat_template_kwargs']),
    chat: {
      // Only users speak in parts.
      conversation: { stringContents: true },
      limit: MAX_TOKENS,
      efforts: { taken: [[/^/, ['low', 'medium', 'high']]] },
    },
  },
  fireworks: {
    label: 'Fireworks AI',
    apiBase: 'https://api.fireworks.ai/inference/v1',
    modes: ['responses', 'embedding'],
    words: THINKING,
    chat: {
      conversation: { reasoning: 'reasoning_content', strictAnswers: true, strictCalls: true },
      fields: {
        // It refuses unknown fields with 400, in messages, too.
        unknownHints: OF_OPENAI,
        stops: 4,
      },
      efforts: {
        taken: [
          [/gpt-oss/, ['low', 'medium', 'high']],
          [/^/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
        ],
      },
    },
  },
  deepinfra: {
    label: 'DeepInfra',
    apiBase: 'https://api.deepinfra.com/v1/openai',
    modes: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    chat: {
      conversation: { stringContents: true },
      fields: { stops: 4 },
      limit: MAX_TOKENS,
      efforts: { taken: [[/^/, ['none', 'low', 'medium', 'high']]] },
    },
  },
  deepseek: {
    label: 'DeepSeek',
    apiBase: 'https://api.deepseek.com/v1',
    modes: [],
    words: THINKING,
    chat: {
      conversation: { reasoning: 'reasoning_content', noReasoning: '' },
      limit: MAX_TOKENS,
      toolChoice: {
        // The older names each stand for one of the two ways.
        stopsThinking: /^(?!deepseek-(chat|reasoner))/,
      },
      formats: { withoutSchemas: true },
    },
  },
  openrouter: {
    label: 'OpenRouter',
    apiBase: 'https://openrouter.ai/api/v1',
    modes: ['embedding', 'audio_speech', 'audio_transcription', 'rerank'],
    own: { image_generation: adapterFor(openrouterImages) },
    routingFields: OPENROUTER_FIELDS,
    words: new Set(['reasoning', 'usage', 'include_reasoning']),
    chat: { conversation: { cacheMarks: true, reasoningDetails: true } },
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
    modes: ['responses'],
    own: { image_generation: adapterFor(xaiImages) },
    chat: {
      conversation: { refusesSilence: true, stringContents: true },
      fields: { refuses: ['frequency_penalty', 'presence_penalty'] },
      efforts: {
        taken: [
          [/grok-(4\.20(?!-multi-agent)|build|composer)/, []],
          [/grok-4\.3/, ['none', 'low', 'medium', 'high']],
          [/grok-4\.5/, ['low', 'medium', 'high']],
          [/grok-(4\.[6-9]|[5-9])/, ['low', 'medium', 'high', 'xhigh']],
        ],
      },
    },
  },
  cerebras: {
    label: 'Cerebras',
    apiBase: 'https://api.cerebras.ai/v1',
    modes: [],
    words: new Set(['reasoning_format', 'disable_reasoning']),
    chat: {
      conversation: { reasoning: 'reasoning', strictAnswers: true, strictCalls: true },
      fields: { unknownHints: [...OF_OPENAI, 'prompt_cache_key'], refuses: ['top_k'], stops: 4 },
      limit: { name: 'max_completion_tokens' },
      efforts: { taken: [[/gpt-oss/, ['low', 'medium', 'high']]] },
      functions: { sameStrictness: true },
    },
  },
  nvidia: {
    label: 'NVIDIA NIM',
    apiBase: 'https://integrate.api.nvidia.com/v1',
    modes: ['embedding'],
    words: new Set(['chat_template_kwargs']),
    chat: {
      conversation: { reasoning: 'reasoning_content', strictAnswers: true, strictCalls: true, stringContents: true },
      fields: {
        // It refuses unknown fields with 400.
        unknownHints: [...OF_OPENAI, 'prompt_cache_key', 'user'],
        refuses: ['top_k', 'service_tier'],
        refusedBySome: ['n', 'frequency_penalty', 'presence_penalty'],
      },
      limit: MAX_TOKENS,
    },
  },
  moonshot: {
    label: 'Moonshot AI',
    apiBase: 'https://api.moonshot.ai/v1',
    modes: [],
    words: THINKING,
    chat: {
      conversation: {
        reasoning: 'reasoning_content',
        // An empty text is no reasoning to some of its models.
        noReasoning: ' ',
        refusesSilence: true,
      },
      fields: { samplesAlone: (model) => /kimi-(?!k2(-|$))/.test(model), hottest: 1, stops: 5 },
      limit: MAX_TOKENS,
      efforts: { taken: [[/kimi-k[3-9]/, ['low', 'high', 'max']]] },
      toolChoice: {
        stopsThinking: /kimi-k2\.[56]/,
        callsUnforced: /kimi-k2\.[7-9]/,
        callsAny: /kimi-k[3-9]/,
      },
      definedSchemas: true,
      takes: { functions: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/ },
      // Files that were uploaded to the account.
      readsOwn: /^ms:/i,
    },
  },
  huggingface: {
    label: 'Hugging Face',
    apiBase: 'https://router.huggingface.co/v1',
    modes: [],
    routingFields: new Set(['provider']),
    // It hands requests on as they are, to whichever of its providers it chooses: Cerebras, Groq and Fireworks refuse what
    // they do not know.
    chat: {
      conversation: { reasoning: 'none', strictAnswers: true, strictCalls: true, stringContents: true },
      fields: { unknownHints: [...OF_OPENAI, 'prompt_cache_key'], refuses: ['top_k'], stops: 4 },
      limit: MAX_TOKENS,
      efforts: { taken: [[/gpt-oss/, ['low', 'medium', 'high']]] },
      functions: { sameStrictness: true },
    },
  },
  cloudflare: {
    label: 'Cloudflare Workers AI',
    apiBase: 'https://api.cloudflare.com/client/v4/accounts/{project}/ai/v1',
    modes: ['embedding'],
    models: false,
    // A tuned model of the account.
    routingFields: new Set(['lora']),
    words: new Set(['chat_template_kwargs']),
    chat: { conversation: { stringContents: true }, limit: MAX_TOKENS },
  },
  ...OWN_SERVERS,
}
