import type { Connection } from '../provider.ts'

/** The path of InvokeModel, whose bodies are the model's own. */
export function invokePath({ basePath, model }: Connection): string {
  return `${basePath}/model/${encodeURIComponent(model)}/invoke`
}
