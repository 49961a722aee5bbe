import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Makes a self-signed certificate of this address. */
export async function certificateOf(address: string): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-certificate-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test -addext`
  const files = ['-keyout', keyFile, '-out', certFile]
  await promisify(execFile)('openssl', [...request.split(' '), `subjectAltName=IP:${address}`, ...files])
  const [key, cert] = await Promise.all([readFile(keyFile, 'utf8'), readFile(certFile, 'utf8')])
  await rm(folder, { recursive: true })
  return { key, cert }
}

/** Lets this thread trust a certificate, until what is returned is called. */
export function trusting({ cert }: Certificate): () => void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  return () => setDefaultCACertificates(before)
}
