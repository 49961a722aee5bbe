import { useState } from 'preact/hooks'
import type { Session } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { holdGate, notNow } from '../suggested.ts'
import { Card } from './card.tsx'
import { Enrolment } from './enrolment.tsx'
import { SignOut } from './sign-out.tsx'

/** Setting up a second factor: required by some gateways, else offered once to people who sign in with a password
 *  alone. */
export function FactorStep({ session, onDone }: { readonly session: Session; readonly onDone: () => void }) {
  const [isRequired] = useState(session.standing === 'unenrolled')
  const [wanted, setWanted] = useState(isRequired)
  const [areCodesShown, setShown] = useState(false)
  const skip = () => notNow(session.account_id ?? '')
  const shown = () => {
    setShown(true)
    holdGate(true)
  }
  const done = () => {
    holdGate(false)
    onDone()
  }
  if (!wanted) {
    return (
      <Card title="Add a second factor?">
        <p>
          With a second factor, signing in also needs a code from an app, so that a stolen password is not enough. You
          can set it up later under Account.
        </p>
        <Button kind="primary" class="wide" onClick={() => setWanted(true)}>
          Set up
        </Button>
        <Button kind="plain" onClick={skip}>
          Not now
        </Button>
      </Card>
    )
  }
  return (
    <Card title="Set up a second factor">
      <p>
        {isRequired && 'This gateway asks everybody for one. '}You need an app that makes codes, such as a password
        manager.
      </p>
      <Enrolment onShown={shown} onDone={done} />
      {areCodesShown ? null : isRequired ? (
        <SignOut />
      ) : (
        <Button kind="plain" onClick={skip}>
          Not now
        </Button>
      )}
    </Card>
  )
}
