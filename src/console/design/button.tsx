import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { toast } from './toast.tsx'

interface Look {
  readonly kind?: 'primary' | 'danger' | 'plain' | undefined
  readonly small?: boolean | undefined
  readonly icon?: IconName | undefined
  /** Names a button that shows an icon alone. */
  readonly label?: string | undefined
  readonly children?: ComponentChildren
}

type ButtonProps = Look &
  Omit<JSX.HTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> & {
    /** Its action is running. */
    readonly busy?: boolean | undefined
    readonly disabled?: boolean | undefined
    readonly type?: 'button' | 'submit'
  }

const classOf = ({ kind, small, icon, children }: Look, more: unknown) =>
  ['button', kind, small && 'small', icon && !children && 'icon', more].filter(Boolean).join(' ')

export function Button({
  kind,
  small,
  icon,
  label,
  busy,
  disabled,
  children,
  class: more,
  type = 'button',
  onClick,
  ...rest
}: ButtonProps) {
  const off = disabled || busy
  return (
    <button
      {...rest}
      type={type}
      class={classOf({ kind, small, icon, children }, more)}
      // `disabled` would take the focus away from a button that was just pressed.
      aria-disabled={off || undefined}
      onClick={off ? (event) => event.preventDefault() : onClick}
      aria-label={label}
      aria-busy={busy}
      title={children ? undefined : label}
    >
      {icon && <Icon name={icon} />}
      {busy ? <>{children}…</> : children}
    </button>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  kind,
  small,
  icon,
  label,
  children,
  ...rest
}: Look & {
  readonly href: string
  readonly download?: boolean | string
  readonly target?: string
  readonly rel?: string
}) {
  return (
    <a
      {...rest}
      class={classOf({ kind, small, icon, children }, '')}
      aria-label={label}
      title={children ? undefined : label}
    >
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

/** Copies a text. Browsers without a clipboard for plain http get a field with the text selected. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  const host = document.querySelector('dialog[open]') ?? document.body
  host.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

export function CopyButton({
  text,
  label = 'Copy',
  children,
}: {
  readonly text: string
  readonly label?: string
  readonly children?: ComponentChildren
}) {
  const [copied, setCopied] = useState(false)
  async function copy(event: Event): Promise<void> {
    event.stopPropagation()
    try {
      await copyText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch {
      toast('The browser did not let us copy. Select the text and copy it yourself.', { bad: true })
    }
  }
  return (
    <Button
      small
      kind={children ? undefined : 'plain'}
      icon={copied ? 'check' : 'copy'}
      label={children ? undefined : copied ? 'Copied' : label}
      onClick={copy}
    >
      {children && (copied ? 'Copied' : children)}
    </Button>
  )
}
