import type { Message } from './protobuf.ts'

// The messages of opentelemetry-proto 1.x, as far as they are sent, by their names in OTLP/JSON.

const anyValue: Message = {
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'int64'],
  doubleValue: [4, 'double'],
  arrayValue: [5, () => ({ values: [1, anyValue] })],
}
const keyValue: Message = { key: [1, 'string'], value: [2, anyValue] }
const resource: Message = { attributes: [1, keyValue] }
const scope: Message = { name: [1, 'string'], version: [2, 'string'] }
const event: Message = { timeUnixNano: [1, 'fixed64'], name: [2, 'string'], attributes: [3, keyValue] }
const status: Message = { message: [2, 'string'], code: [3, 'enum'] }

const span: Message = {
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  parentSpanId: [4, 'hex'],
  name: [5, 'string'],
  kind: [6, 'enum'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, keyValue],
  events: [11, event],
  status: [15, status],
  flags: [16, 'fixed32'],
}

const histogramPoint: Message = {
  startTimeUnixNano: [2, 'fixed64'],
  timeUnixNano: [3, 'fixed64'],
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  bucketCounts: [6, 'fixed64s'],
  explicitBounds: [7, 'doubles'],
  attributes: [9, keyValue],
  min: [11, 'double'],
  max: [12, 'double'],
}
const histogram: Message = { dataPoints: [1, histogramPoint], aggregationTemporality: [2, 'enum'] }
const metric: Message = {
  name: [1, 'string'],
  description: [2, 'string'],
  unit: [3, 'string'],
  histogram: [9, histogram],
}

const logRecord: Message = {
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, 'enum'],
  severityText: [3, 'string'],
  body: [5, anyValue],
  attributes: [6, keyValue],
  flags: [8, 'fixed32'],
  traceId: [9, 'hex'],
  spanId: [10, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'string'],
}

/** A request of each signal: resources, scopes, and what is told. */
export const EXPORTS = {
  traces: {
    resourceSpans: [
      1,
      { resource: [1, resource], scopeSpans: [2, { scope: [1, scope], spans: [2, span], schemaUrl: [3, 'string'] }] },
    ],
  },
  metrics: {
    resourceMetrics: [
      1,
      {
        resource: [1, resource],
        scopeMetrics: [2, { scope: [1, scope], metrics: [2, metric], schemaUrl: [3, 'string'] }],
      },
    ],
  },
  logs: {
    resourceLogs: [
      1,
      {
        resource: [1, resource],
        scopeLogs: [2, { scope: [1, scope], logRecords: [2, logRecord], schemaUrl: [3, 'string'] }],
      },
    ],
  },
} as const satisfies Record<string, Message>
export type Signal = keyof typeof EXPORTS
