import * as z from 'zod'
import { SettingsSchema } from '../settings.ts'
import { TaskGateSettingsSchema } from '../tasks/task-gate.ts'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()

/** A value of the safety policy; `default` means it equals the built-in default, whoever wrote it. */
const policy = z.strictObject({ value: z.number(), source: z.enum(['default', 'sluice.yaml']) })

/** Routes about the place itself: they read settings, never a run. */
export const PLACE_ROUTES = {
  'get-health': {
    summary: 'Whether the place answers, and which version it is',
    answer: z.strictObject({ status: z.literal('ok'), version: text }),
  },
  'get-config': {
    summary: 'The effective configuration, without secrets',
    answer: z.strictObject({ config: SettingsSchema, documents: z.array(text) }),
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
    summary: 'The effective safety policy and the fixed limits',
    answer: z.strictObject({ policy: z.record(text, policy), limits: z.record(text, z.number()) }),
  },
  'get-openapi': {
    summary: 'This document',
    answer: z.looseObject({ openapi: text }),
  },
} as const satisfies Record<string, RouteSchema>
