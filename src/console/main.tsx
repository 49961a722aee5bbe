import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { LocationProvider } from 'preact-iso/router'
import { queries } from './data/query.ts'
import { App } from './shell/app.tsx'
import './style/index.css'

// After a new version was put in place, a page of the old one may not find its parts any more: read anew, once.
addEventListener('vite:preloadError', (event) => {
  const key = `reloaded:${location.pathname}`
  if (sessionStorage.getItem(key) !== null) return
  sessionStorage.setItem(key, '')
  event.preventDefault()
  location.reload()
})

const host = document.getElementById('app') as HTMLElement
render(
  <QueryClientProvider client={queries}>
    <LocationProvider scope="/console">
      <App />
    </LocationProvider>
  </QueryClientProvider>,
  host,
)
