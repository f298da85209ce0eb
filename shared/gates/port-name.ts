import * as z from 'zod'

/** A port a gate reads; that it exists on the block is checked with the document. */
export const PortNameSchema = z.string().max(200).regex(/^\S+$/, 'a port name has letters and no spaces')
