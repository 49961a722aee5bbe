/** How an agent of the command line is told to use the gateway, as a user types it. */
export interface Agent {
  readonly name: string
  readonly package: string
  readonly command: string
  /** The endpoint that it asks. */
  readonly endpoint: string
  readonly setup: (at: Gateway) => Setup
}

export interface Gateway {
  readonly origin: string
  readonly key: string
  readonly model: string
}

export interface Setup {
  readonly env: Readonly<Record<string, string>>
  /** Files by their path, below the home folder where it begins with `~/`, else in the folder that it works in. */
  readonly files?: Readonly<Record<string, string>>
  /** The arguments of a run without a terminal; the prompt comes behind them. */
  readonly run: readonly string[]
  /** Settings that are needed only where there is no internet. */
  readonly offline?: Readonly<Record<string, string>>
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const opencode = (name: string, npm: string, endpoint: string, base: string): Agent => ({
  name,
  package: 'opencode-ai',
  command: 'opencode',
  endpoint,
  setup: ({ origin, key, model }) => ({
    env: { GATEWAY_KEY: key },
    files: {
      'opencode.json': json({
        provider: {
          gateway: {
            npm,
            options: { baseURL: `${origin}${base}`, apiKey: '{env:GATEWAY_KEY}' },
            models: { [model]: {} },
          },
        },
        model: `gateway/${model}`,
      }),
    },
    run: ['run'],
    offline: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  }),
})

export const AGENTS: readonly Agent[] = [
  {
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    command: 'claude',
    endpoint: '/v1/messages',
    setup: ({ origin, key, model }) => ({
      env: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      },
      run: ['--allowedTools', 'Read,Bash', '-p'],
      offline: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    }),
  },
  {
    name: 'Codex',
    package: '@openai/codex',
    command: 'codex',
    endpoint: '/v1/responses',
    setup: ({ origin, key, model }) => ({
      env: { GATEWAY_KEY: key },
      files: {
        '~/.codex/config.toml': [
          `model = "${model}"`,
          'model_provider = "gateway"',
          '',
          '[model_providers.gateway]',
          'name = "Gateway"',
          `base_url = "${origin}/v1"`,
          'env_key = "GATEWAY_KEY"',
          'wire_api = "responses"',
          '',
        ].join('\n'),
      },
      run: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'],
    }),
  },
  opencode('opencode', '@ai-sdk/openai-compatible', '/v1/chat/completions', '/v1'),
  opencode('opencode, as Anthropic', '@ai-sdk/anthropic', '/v1/messages', '/v1'),
  opencode('opencode, as OpenAI', '@ai-sdk/openai', '/v1/responses', '/v1'),
  opencode('opencode, as Google', '@ai-sdk/google', '/v1beta/models', '/v1beta'),
  {
    name: 'Qwen Code',
    package: '@qwen-code/qwen-code',
    command: 'qwen',
    endpoint: '/v1/chat/completions',
    setup: ({ origin, key, model }) => ({
      env: { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
      run: ['--auth-type', 'openai', '--approval-mode', 'yolo', '-p'],
    }),
  },
  {
    name: 'Gemini CLI',
    package: '@google/gemini-cli',
    command: 'gemini',
    endpoint: '/v1beta/models',
    setup: ({ origin, key, model }) => ({
      env: { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: key, GEMINI_MODEL: model },
      files: { '~/.gemini/settings.json': json({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
      run: ['--approval-mode', 'yolo', '--skip-trust', '-p'],
    }),
  },
  {
    name: 'Continue',
    package: '@continuedev/cli',
    command: 'cn',
    endpoint: '/v1/chat/completions',
    setup: ({ origin, key, model }) => ({
      env: { GATEWAY_KEY: key },
      files: {
        'continue.yaml': [
          'name: Gateway',
          'version: 1.0.0',
          'schema: v1',
          'models:',
          `  - name: ${model}`,
          '    provider: openai',
          `    model: ${model}`,
          `    apiBase: ${origin}/v1`,
          `    apiKey: ${key}`,
          '    roles: [chat]',
          '    capabilities: [tool_use]',
          '',
        ].join('\n'),
      },
      run: ['--config', 'continue.yaml', '--auto', '-p'],
      offline: { CONTINUE_TELEMETRY_ENABLED: '0' },
    }),
  },
]
