import type { SampleCall } from '../../data/call-samples.ts'
import { Samples } from '../../design/call/call-code.tsx'
import { Dialog } from '../../design/dialog.tsx'
import type { Endpoint } from './call.ts'

export interface Example extends Pick<SampleCall, 'body' | 'file' | 'fileName'> {
  readonly endpoint: Endpoint
}

/** The call that the playground would make, for a program. */
export function CodeDialog({ example, onClose }: { readonly example: Example; readonly onClose: () => void }) {
  return (
    <Dialog title="Code of this call" wide onClose={onClose}>
      <Samples call={{ ...example, origin: location.origin }} label="The call" />
    </Dialog>
  )
}
