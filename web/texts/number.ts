/**
 * A whole number as English and Chinese readers write it: `30,000`. `Intl.NumberFormat` says the same, but the browser loads its tables for it
 * while the page begins: on a slow processor that takes longer than to draw a screen of rows.
 */
export const number = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
