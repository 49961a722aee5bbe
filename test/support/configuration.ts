/** Sections of a configuration file. Its text is JSON, which is YAML. */
export interface Sections {
  readonly general_settings?: object
  readonly router_settings?: object
  readonly gateway_settings?: object
  readonly model_list: readonly object[]
}

export function configuration(sections: Sections): string {
  return JSON.stringify(sections)
}

/** An entry of `model_list` at the scripted upstream, whose model there is named as the deployment is. */
export function deployment(
  upstreamUrl: string,
  group: string,
  id: string,
  model_info: object = {},
  gateway_params: object = {},
): object {
  return {
    model_name: group,
    deployment_id: id,
    gateway_params: { model: `openai-compatible/${id}`, api_base: `${upstreamUrl}/v1`, ...gateway_params },
    model_info,
  }
}

/** An entry of `model_list` that answers inside the gateway. */
export function echo(group: string, id: string, model_info: object = {}): object {
  return { model_name: group, deployment_id: id, gateway_params: { model: 'echo/echo' }, model_info }
}
