import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { LocationProvider } from 'preact-iso/router'
import { queries } from './data/query.ts'
import { App } from './shell/app.tsx'
import { LeavingForms } from './shell/leaving-forms.tsx'
import './style/index.css'

// Back may bring the page as it was left, whoever has signed out since.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

const host = document.getElementById('app') as HTMLElement
render(
  <QueryClientProvider client={queries}>
    <LocationProvider scope="/console">
      <LeavingForms>
        <App />
      </LeavingForms>
    </LocationProvider>
  </QueryClientProvider>,
  host,
)
