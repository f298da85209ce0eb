/** A JSON value: what travels between blocks and what is hashed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
