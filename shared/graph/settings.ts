import * as z from 'zod'

/** What is made of the knowledge graph when it is put (docs/research.md, "Mentions"). */
export const GraphSettingsSchema = z.strictObject({
  /** Names of entities in texts of others become edges. */
  links: z.boolean().default(true),
})
