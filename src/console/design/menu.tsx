import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface MenuItem {
  readonly label: string
  readonly note?: string | undefined
  readonly href?: string | undefined
  readonly danger?: boolean | undefined
  readonly checked?: boolean | undefined
  readonly onSelect?: (() => void) | undefined
}

/** A button with a menu. Arrows walk it; Escape closes it and the browser gives the focus back. */
export function Menu({
  label,
  icon,
  items,
  children,
  head,
  class: kind = 'button plain icon',
}: {
  readonly label: string
  readonly icon?: IconName
  /** null draws a line. */
  readonly items: ReadonlyArray<MenuItem | null>
  readonly children?: ComponentChildren
  readonly head?: ComponentChildren
  readonly class?: string
}) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  function toggled(event: Event): void {
    if ((event as ToggleEvent).newState !== 'open') return
    placeUnder(button.current, list.current)
    list.current?.querySelector<HTMLElement>('.option')?.focus()
  }
  function walk(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const options = [...(list.current?.querySelectorAll<HTMLElement>('.option') ?? [])]
    const at = options.indexOf(document.activeElement as HTMLElement)
    options[(at + step + options.length) % options.length]?.focus()
  }
  const close = () => list.current?.hidePopover()
  return (
    <>
      <button
        ref={button}
        type="button"
        class={kind}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={children ? undefined : label}
        title={children ? undefined : label}
      >
        {icon && <Icon name={icon} />}
        {children}
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        onToggle={toggled}
        onKeyDown={walk}
      >
        {head}
        {items.map((item, at) =>
          item === null ? (
            <hr key={at} />
          ) : item.href !== undefined ? (
            <a key={at} class="option" role="menuitem" href={item.href} onClick={close}>
              {item.label}
            </a>
          ) : (
            <button
              key={at}
              type="button"
              class={item.danger ? 'option danger' : 'option'}
              role={item.checked === undefined ? 'menuitem' : 'menuitemradio'}
              aria-checked={item.checked}
              onClick={() => {
                close()
                item.onSelect?.()
              }}
            >
              {item.label}
              {item.note && <span class="note">{item.note}</span>}
              {item.checked && (
                <span class="note">
                  <Icon name="check" />
                </span>
              )}
            </button>
          ),
        )}
      </div>
    </>
  )
}

/** Puts what a button opens under it, or over it where there is no room. */
export function placeUnder(at: HTMLElement | null, menu: HTMLElement | null): void {
  if (!at || !menu) return
  const box = at.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8))
  const below = box.bottom + height + 8 < innerHeight
  menu.style.left = `${left}px`
  menu.style.top = `${below ? box.bottom : Math.max(8, box.top - height - 8)}px`
}
