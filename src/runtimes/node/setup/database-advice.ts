import { NO_TLS, type SqlError } from '../../../stores/sql/sql.ts'

type Advice = readonly (readonly [what: RegExp, advice: string])[]

/** What an operator does about a database that refuses, by its SQLSTATE, and what it says where that is not enough. The
 *  first that fits holds. */
const REFUSED: Advice = [
  [/^53100/, 'Make room on the disk of the database.'],
  [/^53300/, 'Raise max_connections there, or put a pooler before it: each process opens up to 10 connections.'],
  [/^08P01.*no more conn/s, 'Raise max_client_conn of the pooler: each process opens up to 10 connections.'],
  [/^28.*(no encryption|SSL off)/s, 'Add ?sslmode=require to DATABASE_URL, or let this machine in (pg_hba.conf).'],
  [
    /^28.*certificate/s,
    'Name a certificate of that user, with its key, in DATABASE_URL (sslcert=FILE&sslkey=FILE), or let it sign in otherwise (pg_hba.conf).',
  ],
  [/^28.*pg_hba/s, 'Let this machine in (pg_hba.conf).'],
  [/^28/, 'Correct the user and the password in DATABASE_URL.'],
  [/^3D000/, 'Create it, or correct its name in DATABASE_URL.'],
  [/^3F000/, 'Give it a schema (CREATE SCHEMA public), or correct the search_path of its user.'],
  [/^42501/, 'Make the user of DATABASE_URL the owner of the database and of its tables.'],
  [/^22P05/, "Create it with ENCODING 'UTF8' TEMPLATE template0."],
  [
    /^25006/,
    'Name the primary server in DATABASE_URL, or end its default_transaction_read_only: this one takes no writes.',
  ],
]

const CERTIFICATE = /CERT|VERIFY|ISSUER/

/** The same of one that is not connected, by why it is not. */
const UNCONNECTED: Advice = [
  [new RegExp(NO_TLS), 'Leave sslmode out of DATABASE_URL, or switch TLS on there.'],
  [/EXPIRED|NOT_YET/, 'Renew the certificate of the server, or set the clock of this machine.'],
  [/ALERT/, 'Name a certificate that the server accepts, with its key, in DATABASE_URL (sslcert=FILE&sslkey=FILE).'],
  [/ALTNAME/, 'Name the server in DATABASE_URL as its certificate does.'],
  [
    CERTIFICATE,
    'Name the certificate of its authority in DATABASE_URL (sslrootcert=FILE), or check none (sslmode=no-verify).',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'Correct the host in DATABASE_URL, or see the DNS of this machine.'],
  [/ENOENT/, 'Correct the files of sslrootcert, sslcert and sslkey, or the socket, in DATABASE_URL.'],
  [/PEM|X509/, 'Correct the files of sslcert and sslkey in DATABASE_URL.'],
  [/ECONNREFUSED/, 'Start it, or correct the host and the port in DATABASE_URL.'],
]

export function databaseAdvice({ code, message, unconnected = '' }: SqlError): string {
  if (code !== undefined) return adviceOf(REFUSED, `${code} ${message}`) ?? 'See the log of the database.'
  return adviceOf(UNCONNECTED, unconnected) ?? 'See DATABASE_URL, and that the server lets this machine in.'
}

function adviceOf(list: Advice, said: string): string | undefined {
  return list.find(([what]) => what.test(said))?.[1]
}

/** Whether the certificate of the server is not accepted. */
export function isOfCertificate({ unconnected }: SqlError): boolean {
  return unconnected !== undefined && CERTIFICATE.test(unconnected)
}
