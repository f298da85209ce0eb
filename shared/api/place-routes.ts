import * as z from 'zod'
import { TaskGateSettingsSchema } from '../dag/task-gate-settings.ts'
import { HEALTH_PARTS, PartHealthSchema, ProjectProblemSchema } from '../ports/health.ts'
import { SettingsSchema } from '../settings/settings.ts'
import { StartHoldSchema } from './control-routes.ts'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()

/** A value of the safety policy; `default` means it equals the built-in default, whoever wrote it. */
const policy = z.strictObject({
  value: z.union([z.number(), z.boolean()]).nullable().describe('null = no cap'),
  source: z.enum(['default', 'sluice.yaml', 'cdk context']),
})

const health = z.strictObject({
  status: z
    .enum(['ok', 'degraded'])
    .describe(
      'degraded: a part failed that some runs need. Where nothing can be started the answer is 503 place_unable',
    ),
  version: text,
  checked_at: text.describe('When the oldest of the probes ended; they are repeated every 3 seconds at most'),
  parts: z.record(z.enum(HEALTH_PARTS), PartHealthSchema),
  project: z
    .array(ProjectProblemSchema)
    .readonly()
    .optional()
    .describe('Only while `sluice dev` watches a project: what is wrong with its files; empty: nothing'),
})

/** Routes about the place itself: they read settings, never a run. */
export const PLACE_ROUTES = {
  'get-health': {
    summary: 'Which version the place is, and what of it works: each part is probed, and says what was checked',
    answer: health,
  },
  'get-config': {
    summary: 'The effective configuration, without secrets',
    answer: z.strictObject({ config: SettingsSchema, documents: z.array(text) }),
  },
  'get-document': {
    summary: 'The text of a document that is deployed in this place, as a run started by its name would read it',
    params: z.strictObject({ name: text.min(1).max(100) }),
    answer: z.strictObject({
      name: text,
      text: text.describe('YAML'),
      paused: StartHoldSchema.optional().describe('Nobody starts a run of it until it is resumed'),
    }),
  },
  'get-agents': {
    summary: 'Configured agents and providers',
    answer: z.strictObject({
      agents: z.array(
        z.strictObject({ name: text, role: text, provider: text, model: text, capabilities: z.array(text) }),
      ),
      providers: z.array(text),
    }),
  },
  'get-gates': {
    summary: 'Configured gates, and every gate type with the JSON Schema of its parameters',
    answer: z.strictObject({
      configured: z.array(
        TaskGateSettingsSchema.extend({ pipelines: z.array(text).describe('Pipelines of sluice.yaml that use it') }),
      ),
      types: z.array(z.looseObject({ type: text })),
    }),
  },
  'get-safety': {
    summary: 'The effective safety policy, the fixed limits, and whether starts are on hold',
    answer: z.strictObject({
      policy: z.record(text, policy),
      limits: z.record(text, z.number()),
      hold: StartHoldSchema.nullable().describe('Who holds the starts, and since when'),
      active_runs: z.int().min(0).describe('Runs that have a place; children of a run take none'),
      queued_runs: z.int().min(0).describe('Runs that wait for one, as far as 1,000'),
      stored_bytes: z
        .int()
        .min(0)
        .optional()
        .describe('Bodies the tenant stored and that may still be there; only where max_tenant_bytes is set'),
    }),
  },
  'get-openapi': {
    summary: 'This document',
    answer: z.looseObject({ openapi: text }),
  },
} as const satisfies Record<string, RouteSchema>
