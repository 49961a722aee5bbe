import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'
import type { Form, Values } from '../../design/form/form.tsx'
import { useTitle } from '../../design/page.tsx'

/** One step on the way in, as a page of its own. */
export function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useTitle(title)
  return (
    <div class="gate">
      <main>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </div>
  )
}

/** A form with one button. After too many attempts the button waits for the Retry-After of the gateway. */
export function CardForm<Fields extends Values>({
  form,
  action,
  onSubmit,
  children,
}: {
  readonly form: Form<Fields>
  readonly action: string
  readonly onSubmit: () => void
  readonly children: ComponentChildren
}) {
  const left = useCountdown(form.failure instanceof ApiError ? form.failure.retryAfterSeconds : undefined, form.failure)
  return (
    <form
      class="fields"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (left === 0) onSubmit()
      }}
    >
      {children}
      {form.problem && (
        <p class="notice bad" role="alert">
          {form.problem}
        </p>
      )}
      <Button type="submit" kind="primary" busy={form.busy} disabled={left > 0} class="wide">
        {left > 0 ? `Again in ${left} s` : action}
      </Button>
    </form>
  )
}

function useCountdown(seconds: number | undefined, of: unknown): number {
  const [end, setEnd] = useState(0)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!seconds) return undefined
    setEnd(Date.now() + 1000 * seconds)
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [of, seconds])
  return Math.max(0, Math.ceil((end - now) / 1000))
}

/** The token after the `#` of a link, which browsers do not send to servers. It is removed from the address and
 *  history. One that is kept is remembered by the tab alone, for a reload and for the way over an identity provider. */
export function useSecretOfLink({ isKept = false } = {}): string {
  const [place] = useState(() => `secret of ${location.pathname}`)
  const [secret] = useState(() => location.hash.slice(1) || (isKept && sessionStorage.getItem(place)) || '')
  useEffect(() => {
    if (isKept) sessionStorage.setItem(place, secret)
    if (location.hash) history.replaceState(history.state, '', location.pathname + location.search)
    // Another link that is opened in this tab differs after the `#` alone: browsers do not load the page for it.
    const opened = () => location.hash && location.reload()
    addEventListener('hashchange', opened)
    return () => removeEventListener('hashchange', opened)
  }, [])
  return secret
}
