import * as z from 'zod'

/** What of a place is probed: what runs are read from and written to, what moves them, where strange code is bounded. */
export const HEALTH_PARTS = ['reads', 'writes', 'machine', 'isolates'] as const
export type HealthPart = (typeof HEALTH_PARTS)[number]

export const PartHealthSchema = z.strictObject({
  state: z.enum(['ok', 'failed', 'unchecked']).describe('unchecked: nobody looked, which is no good news'),
  checked: z.string().describe('What was done to find out'),
  why: z.string().optional().describe('What failed, or why nobody looked'),
})
export type PartHealth = z.output<typeof PartHealthSchema>

/** Of a part: what is done to find out, and doing it; who throws has failed. A text instead: why nobody looks. */
export interface Probe {
  readonly checked: string
  readonly probe: (() => Promise<void>) | string
}

/** Looks at a place. It never throws: a probe that fails is an answer. */
export interface Health {
  look(): Promise<{ readonly at: number; readonly parts: Readonly<Record<HealthPart, PartHealth>> }>
}
