import { describe, expect, it } from 'vitest'
import { accepted } from '../../src/config/accepted.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { reveal, type Secret } from '../../src/lib/secret.ts'
import { credentialEntry, modelEntry } from '../../src/routing/configuration.ts'
import { checkCredential, withCredential } from '../../src/routing/credential.ts'

const credential = (provider: string, gateway_params: object) =>
  accepted(credentialEntry(), { name: 'shared', provider, gateway_params })
const deployment = (gateway_params: object) => ({
  ...accepted(modelEntry(), { model_name: 'm', gateway_params: { credential: 'shared', ...gateway_params } }),
  deployment_id: 'm-1',
})

/** The field and the sentence of a refusal. */
function refusal(act: () => unknown): { param: string; message: string } {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return { param: String(error.details.param), message: error.message }
  }
  throw new Error('was not refused')
}

describe('a deployment that names a credential', () => {
  it('has its secrets, its address and its headers; its own parameters win', () => {
    const given = credential('openai', {
      api_key: 'sk-1',
      organization: 'org-a',
      headers: { 'X-Team': 'a', 'x-both': 'credential' },
    })
    const { gateway_params } = withCredential(
      deployment({ model: 'openai/gpt-5', organization: 'org-b', headers: { 'X-Both': 'own' } }),
      given,
    )
    expect(gateway_params).toMatchObject({ provider: 'openai', upstream_model: 'gpt-5', organization: 'org-b' })
    expect(gateway_params).not.toHaveProperty('credential')
    expect(reveal(gateway_params.api_key as Secret)).toBe('sk-1')
    const headers = Object.entries(gateway_params.headers ?? {}).map(([name, value]) => [name, reveal(value)])
    expect(Object.fromEntries(headers)).toEqual({ 'x-team': 'a', 'x-both': 'own' })
  })

  it('goes where its credential is for', () => {
    const given = credential('azure', { api_key: 'k', api_base: 'https://one.openai.azure.com' })
    expect(withCredential(deployment({ model: 'azure/gpt' }), given).gateway_params.api_base).toBe(
      'https://one.openai.azure.com',
    )
    const own = 'https://one.openai.azure.com/openai'
    expect(withCredential(deployment({ model: 'azure/gpt', api_base: own }), given).gateway_params.api_base).toBe(own)
  })

  const openai = credential('openai', { api_key: 'k' })
  const azure = credential('azure', { api_key: 'k', api_base: 'https://one.openai.azure.com' })
  it.each([
    ['no credential', { model: 'openai/x' }, undefined, 'gateway_params.credential', 'no such credential'],
    ['one of another provider', { model: 'groq/x' }, openai, 'gateway_params.credential', 'is for openai'],
    [
      'another address than the usual one',
      { model: 'openai/x', api_base: 'https://elsewhere.example' },
      openai,
      'gateway_params.api_base',
      'the usual address of openai',
    ],
    [
      'another address than the credential',
      { model: 'azure/x', api_base: 'https://two.openai.azure.com' },
      azure,
      'gateway_params.api_base',
      'another address',
    ],
    [
      'headers for an address that it does not name itself',
      { model: 'azure/x', headers: { 'x-secret': 's' } },
      azure,
      'gateway_params.api_base',
      'must be named',
    ],
  ])('is refused with %s', (_, params, given, param, message) => {
    const told = refusal(() => withCredential(deployment(params), given))
    expect(told).toEqual({ param, message: expect.stringContaining(message) })
  })

  it('has no secret of its own', () => {
    for (const [name, more] of [
      ['api_key', {}],
      ['aws_session_token', {}],
      ['aws_access_key_id', { aws_secret_access_key: 's' }],
    ] as const) {
      expect(refusal(() => deployment({ model: 'openai/x', [name]: 'k', ...more }))).toEqual({
        param: `gateway_params.${name}`,
        message: `gateway_params.${name}: is what the credential gives; leave out one of the two`,
      })
    }
  })
})

describe('a credential', () => {
  it.each([
    ['openai', { region: 'eu' }, 'gateway_params.region'],
    [
      'openai',
      { api_key: 'k', aws_access_key_id: 'a', aws_secret_access_key: 's' },
      'gateway_params.aws_access_key_id',
    ],
    ['openai', {}, 'gateway_params.api_key'],
    ['bedrock', { aws_access_key_id: 'a' }, 'gateway_params.aws_secret_access_key'],
    ['bedrock', { api_base: 'https://x.example' }, 'gateway_params.api_key'],
    ['azure', { api_key: 'k' }, 'gateway_params.api_base'],
    ['nobody', { api_key: 'k' }, 'provider'],
  ])('of %s is refused with %j, naming %s', (provider, params, param) => {
    expect(refusal(() => checkCredential(credential(provider, params))).param).toBe(param)
  })

  it.each([
    ['openai', { api_key: 'k', organization: 'o' }],
    ['openai', { headers: { authorization: 'Custom x' } }],
    ['bedrock', { aws_access_key_id: 'a', aws_secret_access_key: 's', aws_session_token: 't' }],
    ['vertex', { api_key: '{}', project: 'p' }],
    ['ollama', { api_base: 'http://127.0.0.1:11434' }],
    ['echo', { api_key: 'k' }],
  ])('of %s may be %j', (provider, params) => {
    expect(() => checkCredential(credential(provider, params))).not.toThrow()
  })
})
