import { otelDefaults } from '../../src/config/sections/callback-settings.ts'
import type { OtlpSettings } from '../../src/telemetry/sinks/otlp/otlp.ts'

/** Settings of a collector: the defaults, and what a test has otherwise. */
export const otelSettings = (own: Partial<OtlpSettings>): OtlpSettings => ({
  ...otelDefaults(),
  resource_attributes: { 'deployment.environment.name': 'test' },
  ...own,
})
