import { Dialog } from '../design/dialog.tsx'
import { Icon } from '../design/icons.tsx'
import { AccountMenu } from './account-menu.tsx'
import { PageLinks, ScopeSwitch } from './navigation.tsx'
import { overlay } from './overlay.ts'

/** On phones: what the navigation has elsewhere. */
export function MorePages({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Model gateway" onClose={onClose}>
      <div>
        <ScopeSwitch />
        <PageLinks onFollow={onClose} />
        <button
          type="button"
          class="nav-item"
          onClick={() => {
            onClose()
            overlay.set('palette')
          }}
        >
          <Icon name="search" />
          Search
        </button>
        <AccountMenu />
      </div>
    </Dialog>
  )
}
