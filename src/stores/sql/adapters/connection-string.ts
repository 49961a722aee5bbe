import { SqlError } from '../sql.ts'

export interface Credentials {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** The user, password and database of a connection string. The error for an invalid one does not quote it, since it may
 *  hold a password. */
export function credentialsOf(connectionString: string): Credentials {
  if (!/^postgres(ql)?:\/\//.test(connectionString) || !URL.canParse(connectionString)) {
    throw new SqlError('The address of the database must have the form postgres://user:password@host/database.')
  }
  const { username, password, pathname } = new URL(connectionString)
  return {
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  }
}
