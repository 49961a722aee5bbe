import { documentation } from '../../../src/api/docs/index.ts'
import { routes } from '../../../src/app.ts'

/** Every endpoint of this build, in the order of its documentation. */
export function endpoints(): string {
  const rows = [...routes, ...documentation(routes)].map(({ contract }) => {
    const { method, path, auth, summary } = contract
    return `| ${method.toUpperCase()} | \`${path}\` | ${auth === 'public' ? 'no' : 'yes'} | ${summary} |`
  })
  return ['| Method | Path | Key | |', '|---|---|---|---|', ...rows].join('\n')
}
