import { api } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'

export function SignOut() {
  return (
    <Button
      kind="plain"
      onClick={async () => {
        await api('POST /auth/internal/logout').catch(() => undefined)
        location.assign('/console/sign-in')
      }}
    >
      Sign out
    </Button>
  )
}
