import { SqlError } from '../sql.ts'

export interface Credentials {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Who a connection string says is asking, and for which database. What is not one is refused without being repeated:
 *  it holds a password. */
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
