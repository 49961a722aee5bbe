/** One mistake in the configuration file. It holds names and places, never a secret's value. */
export interface Mistake {
  /** `model_list[2].gateway_params.api_key`, or `line 3, column 7` where the text is not YAML. */
  readonly path: string
  /** Continues the sentence that the path begins: says what is wrong, and what to do. */
  readonly message: string
  /** The variable that the value came from. */
  readonly variable?: string
}

/** An invalid configuration, with all of its mistakes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    this.mistakes = mistakes
  }
}

/** A place in the configuration as an operator writes it. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[\w-]+$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${JSON.stringify(String(part))}]`
  }
  return text === '' ? 'top level' : text
}
