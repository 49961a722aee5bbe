import type { Settings } from '../stores/sql/records/sealed-settings.ts'

/** The parameters that are kept sealed and are never shown. */
export const SECRET_PARAMETERS: readonly string[] = ['api_key', 'aws_secret_access_key', 'aws_session_token']
/** The parameters that are maps of secrets. */
export const SECRET_MAPS: readonly string[] = ['headers']

/** The address that secrets beside these parameters are given for. */
export function addressOf({ provider, model, api_base }: Settings): string {
  const kind = typeof provider === 'string' ? provider : String(model).split('/')[0]
  const origin = typeof api_base === 'string' ? (URL.parse(api_base)?.origin ?? api_base) : ''
  return JSON.stringify([kind, origin])
}
