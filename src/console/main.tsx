import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { LocationProvider } from 'preact-iso/router'
import { queries } from './data/query.ts'
import { App } from './shell/app.tsx'
import { LeavingForms } from './shell/leaving-forms.tsx'
import './style/index.css'

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
