import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { Button } from '../../design/button.tsx'
import { Failure } from '../../design/states.tsx'
import { Messages } from './messages.tsx'
import type { Prompt, Version } from './prompt.ts'
import { ValueFields } from './value-fields.tsx'
import { valuesOf } from './values.ts'

/** A version with values in place, as a call would send it. Asks no model. */
export function Rendered({ prompt, version }: { readonly prompt: Prompt; readonly version: Version }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const render = useChange('POST /ui/api/prompts/{key}/render')
  const run = () =>
    render.mutate({
      params: { key: prompt.key },
      body: { version: version.version, variables: valuesOf(version.variables, typed) },
    })
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
        event.preventDefault()
        run()
      }}
    >
      <ValueFields variables={version.variables} typed={typed} onChange={setTyped} />
      <div>
        <Button type="submit" busy={render.isPending}>
          Render
        </Button>
      </div>
      {render.error && <Failure error={render.error} />}
      {render.data && !render.error && (
        <div role="region" aria-label="Rendered messages">
          <Messages of={render.data.messages} />
        </div>
      )}
    </form>
  )
}
