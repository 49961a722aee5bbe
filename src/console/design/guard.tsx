import { Component, type ComponentChildren } from 'preact'
import { queries } from '../data/query.ts'
import { Button } from './button.tsx'

interface GuardProps {
  /** It is tried again when this is another. */
  readonly of?: string
  /** What is shown in place of a whole page has its title. */
  readonly title?: string
  readonly children: ComponentChildren
}

/** An error boundary: a part that cannot be rendered leaves the rest of the page. An answer may have an unknown form,
 *  from a gateway of another version or a proxy. */
export class Guard extends Component<GuardProps, { readonly problem?: Error | undefined }> {
  static override getDerivedStateFromError = (problem: Error) => ({ problem })

  override componentDidUpdate(before: GuardProps): void {
    if (before.of !== this.props.of && this.state.problem) this.setState({ problem: undefined })
  }

  override render() {
    const { problem } = this.state
    const { title, children } = this.props
    if (!problem) return children
    const again = () => {
      // The failed part no longer uses its queries: they are read again with the next attempt.
      queries.removeQueries({ type: 'inactive' })
      this.setState({ problem: undefined })
    }
    const said = (
      <Broken action="Try again" onAction={again}>
        The console cannot read this answer. It may come from another version of the gateway, or from a proxy in front
        of it. <span class="mono small">{problem.message}</span>
      </Broken>
    )
    return title ? <BrokenPage title={title}>{said}</BrokenPage> : said
  }
}

/** Why a part is not shown, and one action. Made of plain elements, because our own components may be what failed. */
export function Broken({
  action,
  onAction,
  children,
}: {
  readonly action: string
  readonly onAction: () => void
  readonly children: ComponentChildren
}) {
  return (
    <div class="notice bad" role="alert">
      <span class="grow">{children}</span>
      <Button small onClick={onAction}>
        {action}
      </Button>
    </div>
  )
}

export function BrokenPage({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <main class="page-main" id="main" tabIndex={-1}>
      <header class="page-head">
        <h1>{title}</h1>
      </header>
      <div class="page-body">{children}</div>
    </main>
  )
}
