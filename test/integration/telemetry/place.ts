import type { Settings } from '../../../shared/settings/settings.ts'
import { type Collector, startCollector, type TakenSpan } from '../../emulators/otlp-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** What a header holds; it must be nowhere else. */
export const TOKEN = 'canary-otlp-5b1f0c77e2'

export interface TracedPlace {
  readonly collector: Collector
  readonly place: TestPlace
  /** Every line of the log, as JSON. */
  readonly logged: readonly string[]
  /** Spans of a run's trace, when everything was sent. */
  spansOf(runId: string): Promise<readonly TakenSpan[]>
  close(): Promise<void>
}

/** A local place that sends its spans to a collector of the test. */
export async function openTracedPlace(
  options: Parameters<typeof openTestPlace>[0] = {},
  settings: Readonly<Record<string, unknown>> = {},
  otlp: Partial<NonNullable<Settings['telemetry']>['otlp']> = {},
): Promise<TracedPlace> {
  const collector = await startCollector(TOKEN)
  const logged: string[] = []
  const say = (level: string) => (message: string, facts?: object) =>
    void logged.push(JSON.stringify({ level, message, ...facts }))
  const place = await openTestPlace(
    {
      log: { info: say('info'), error: say('error') },
      keys: new Map([['OTLP_AUTH', `Bearer ${TOKEN}`]]),
      ...options,
    },
    {
      ...settings,
      telemetry: { otlp: { endpoint: collector.url, headers: { authorization: { env: 'OTLP_AUTH' } }, ...otlp } },
    },
  )
  return {
    collector,
    place,
    logged,
    async spansOf(runId) {
      await place.place.world.telemetry?.flush(5_000)
      return collector.spans.filter(({ attributes }) => attributes['sluice.run_id'] === runId)
    },
    async close() {
      await place.close()
      await collector.close()
    },
  }
}

/** The parts of a span a picture of the trace needs: `name < name of its parent`. */
export function tree(spans: readonly TakenSpan[]): readonly string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans
    .toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
    .map(({ name, parentSpanId }) =>
      parentSpanId === undefined ? name : `${name} < ${names.get(parentSpanId) ?? 'nothing that was sent'}`,
    )
}

/** Spans that begin before, or end after, the span they lie in. */
export function outside(spans: readonly TakenSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  return spans.flatMap((span) => {
    const parent = byId.get(span.parentSpanId ?? '')
    if (parent === undefined) return []
    const isIn =
      BigInt(span.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano) &&
      BigInt(span.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano)
    return isIn ? [] : [`${span.name} in ${parent.name}`]
  })
}
