import * as z from 'zod'

/**
 * What a client says of itself: recorded as said, beside what was seen, and believed nowhere. Apart from principals, since
 * the console holds words about those, and no schemas.
 */
export const DeclaredSchema = z.strictObject({
  client: z.enum(['cli', 'console', 'mcp']),
  /** An option said yes, and no person was asked at that moment. */
  yes: z.exactOptional(z.literal(true)),
})
export type Declared = z.infer<typeof DeclaredSchema>

/** The header that carries it. */
export const DECLARED_HEADER = 'x-sluice-client'

/** `cli`, `cli --yes`, `console`, `mcp`; whatever else is sent says nothing. */
export function readDeclaredClient(header: string | undefined): Declared | undefined {
  const [client, yes, ...more] = (header ?? '').split(' ')
  const isYes = yes === '--yes'
  if (more.length > 0 || (yes !== undefined && !isYes)) return undefined
  return DeclaredSchema.safeParse({ client, ...(isYes ? { yes: true } : {}) }).data
}
