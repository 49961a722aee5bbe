import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

export const CLIENT = { id: 'gateway-client', secret: 'sso-client-secret-canary-5f8a' }

export interface ScriptedPerson {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: unknown
  readonly [claim: string]: unknown
}

/** What it does other than an honest provider would. */
export interface Lies {
  /** Changes what the token says. */
  readonly claims?: (claims: JWTPayload) => JWTPayload
  /** Signs with a key that it does not publish. */
  readonly foreignKey?: boolean
  /** Takes the signature away, and says so. */
  readonly unsigned?: boolean
  readonly noIdToken?: boolean
  /** Takes the client's secret in the body alone, whatever its document says. */
  readonly secretInBody?: boolean
  /** Answers the profile as a token. */
  readonly signedProfile?: boolean
  /** Changes what the profile says. */
  readonly userinfo?: (claims: object) => object
  /** Answers a path in another way altogether. */
  readonly answers?: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>>
  /** Puts these into the address that the browser is sent back to. */
  readonly back?: Readonly<Record<string, string>>
}

/** An identity provider that signs everybody on as `person`, and lies where it is told to. */
export interface ScriptedProvider {
  readonly url: string
  person: ScriptedPerson
  lies: Lies
  /** Every request, as `POST /token`. */
  readonly asked: string[]
  /** Everything that nobody but the gateway may ever see. */
  readonly secrets: string[]
  /** Signs with another key from now on, under the name of the one before. */
  replaceKey(): Promise<void>
  close(): Promise<void>
}

interface Login {
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string
  readonly person: ScriptedPerson
}

export async function scriptedProvider(): Promise<ScriptedProvider> {
  let own = await generateKeyPair('RS256')
  const foreign = await generateKeyPair('RS256')
  const logins = new Map<string, Login>()
  const profiles = new Map<string, ScriptedPerson>()
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const self: ScriptedProvider = {
    url,
    person: { sub: 'nobody' },
    lies: {},
    asked: [],
    secrets: [CLIENT.secret],
    async replaceKey() {
      own = await generateKeyPair('RS256')
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  const secret = () => {
    const text = randomBytes(24).toString('base64url')
    self.secrets.push(text)
    return text
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    self.asked.push(`${request.method} ${pathname}`)
    const json = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const other = self.lies.answers?.[pathname]
    if (other) return other(request, response)
    if (pathname === '/.well-known/openid-configuration') {
      return json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        userinfo_endpoint: `${url}/userinfo`,
        jwks_uri: `${url}/jwks`,
        id_token_signing_alg_values_supported: ['RS256', 'none'],
      })
    }
    if (pathname === '/jwks') {
      return json({ keys: [{ ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] })
    }
    if (pathname === '/authorize') return authorize(searchParams, response)
    if (pathname === '/token' && request.method === 'POST') return redeem(request, json)
    if (pathname === '/userinfo') {
      const person = profiles.get((request.headers.authorization ?? '').replace('Bearer ', ''))
      if (!person) return json({ error: 'invalid_token' }, 401)
      const profile = self.lies.userinfo?.(person) ?? person
      if (!self.lies.signedProfile) return json(profile)
      response.writeHead(200, { 'content-type': 'application/jwt' })
      response.end(await signed({ ...profile, iss: url, aud: CLIENT.id }))
      return
    }
    json({ error: 'not_found' }, 404)
  }

  function authorize(asked: URLSearchParams, response: ServerResponse): void {
    const need = (name: string) => asked.get(name) ?? ''
    const valid =
      need('client_id') === CLIENT.id && need('response_type') === 'code' && need('code_challenge_method') === 'S256'
    if (!valid) {
      response.writeHead(400)
      response.end()
      return
    }
    const code = secret()
    const redirectUri = need('redirect_uri')
    const { person } = self
    logins.set(code, { redirectUri, challenge: need('code_challenge'), nonce: need('nonce'), person })
    const back = new URL(redirectUri)
    const parameters = { code, state: need('state'), iss: url, ...self.lies.back }
    for (const [name, value] of Object.entries(parameters)) if (value !== '') back.searchParams.set(name, value)
    response.writeHead(302, { location: back.href })
    response.end()
  }

  async function redeem(request: IncomingMessage, json: (body: object, status?: number) => void): Promise<void> {
    let text = ''
    for await (const piece of request) text += piece
    const form = new URLSearchParams(text)
    const basic = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`
    const code = form.get('code') ?? ''
    const login = logins.get(code)
    const verifier = form.get('code_verifier') ?? ''
    self.secrets.push(verifier)
    const isClient = self.lies.secretInBody
      ? request.headers.authorization === undefined && form.get('client_secret') === CLIENT.secret
      : request.headers.authorization === basic
    if (!isClient && self.lies.secretInBody) return json({ error: 'invalid_client' }, 401)
    logins.delete(code)
    const valid =
      isClient &&
      login?.redirectUri === form.get('redirect_uri') &&
      login?.challenge === createHash('sha256').update(verifier).digest('base64url')
    if (!login || !valid) return json({ error: 'invalid_grant', error_description: code }, 400)
    const access = secret()
    profiles.set(access, login.person)
    json({
      access_token: access,
      token_type: 'Bearer',
      expires_in: 60,
      ...(self.lies.noIdToken ? {} : { id_token: await idToken(login) }),
    })
  }

  async function idToken({ person, nonce }: Login): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const honest = { ...person, iss: url, aud: CLIENT.id, iat: now, exp: now + 60, nonce }
    const claims = self.lies.claims?.(honest) ?? honest
    const whole = await signed(claims)
    const [, payload] = whole.split('.')
    const token = self.lies.unsigned ? `${btoa('{"alg":"none"}').replaceAll('=', '')}.${payload}.` : whole
    self.secrets.push(token)
    return token
  }

  const signed = (claims: JWTPayload) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(self.lies.foreignKey ? foreign.privateKey : own.privateKey)

  return self
}
